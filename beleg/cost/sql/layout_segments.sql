-- The segments of each layout in the order sent, as it was reported last, and what each is for, by its name: `tools`,
-- `index` (the list of playbooks), else `instructions`. An item of a list (`core_tools[3]`) is named like its list.
WITH reported AS (
    SELECT layout_hash, segments
    FROM layouts
    QUALIFY row_number() OVER (PARTITION BY layout_hash ORDER BY event_time DESC, source, event_id) = 1
),

listed AS (
    SELECT layout_hash, generate_subscripts(segments, 1) AS place, unnest(segments) AS segment
    FROM reported
)

SELECT
    layout_hash,
    place,
    segment.name AS segment,
    segment.scope AS scope,
    segment.hash AS hash,
    segment.tokens AS tokens,
    CASE
        WHEN regexp_matches(segment.name, '^(.*_)?tools(\[.*)?$') THEN 'tools'
        WHEN regexp_matches(segment.name, '^(.*_)?(index|workflows|playbooks)(\[.*)?$') THEN 'index'
        ELSE 'instructions'
    END AS part
FROM listed
