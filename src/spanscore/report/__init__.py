"""What people and programs look at: tables, JSON, lists of errors."""
