"""Chinese: groups of three, as the figures of this field are written. Django's own sets none."""

NUMBER_GROUPING = 3
THOUSAND_SEPARATOR = ","
DECIMAL_SEPARATOR = "."
