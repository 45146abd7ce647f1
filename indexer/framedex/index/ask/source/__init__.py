"""Questions about source trees."""
