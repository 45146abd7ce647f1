"""Questions about calls: which, through which stack, on which objects, and what had them made."""
