"""The guidebook: what captures say of the functions of the runtime's API."""
