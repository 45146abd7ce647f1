"""What readers need of any text: what stands around its lines, and frames from the columns of their words."""
