SELECT DISTINCT provider, model, service_tier, batch FROM steps WHERE run_id = $run_id ORDER BY ALL
