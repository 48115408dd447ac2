"""What is known of a participant, facts apart: seen when, lifecycle, mood, issues, brief, session, profile."""
