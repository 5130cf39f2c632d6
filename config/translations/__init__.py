"""The catalogues of translations: found, compared with the sources, completed and compiled. No `msgfmt` is needed."""
