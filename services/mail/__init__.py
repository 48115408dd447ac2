"""core.mail"""
