"""Features beside the core. The core imports none of them; a feature imports no other."""
