"""What captures hold as one HTML file that needs nothing else: what is asked for it, its charts and its page."""
