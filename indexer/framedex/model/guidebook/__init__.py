"""What the guidebook says: of functions as the ABI describes them, and of what captures observed of them."""
