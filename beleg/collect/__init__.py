"""`beleg collect`: an OTLP/HTTP receiver that reduces spans in the process and writes their events to the spool."""
