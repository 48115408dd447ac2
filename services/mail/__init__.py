"""Understanding and making mail: parsing, reply text, authentication, filters, reports; no broker and no database."""
