"""What the guidebook asks of one capture."""
