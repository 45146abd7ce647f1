"""The formats of other recorders, one reader each: they know no other, and give what they find to a `Builder`."""
