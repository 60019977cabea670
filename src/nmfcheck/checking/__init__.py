"""Checking a subject: a suite through it, into a store, and what is to be said of it."""
