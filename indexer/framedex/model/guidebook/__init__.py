"""Types of the guidebook: functions of the ABI, and observations of them."""
