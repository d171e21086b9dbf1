"""Reports for people and programs: tables, JSON, error lists and the HTML report."""
