"""How figures are written, where it differs from Django's own."""
