SELECT playbook AS name, CAST(sum(requests) AS BIGINT) AS found
FROM playbook_hits
GROUP BY playbook
