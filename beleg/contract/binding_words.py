"""The words by which `binding` looks for tools that bind, German and English."""

_ACTS = """
    submit submits submitted submitting file files filing send sends sending resend transmit transmits deliver
    pay pays paying remit transfer transfers wire withdraw refund charge debit collect capture settle
    approve approves approving release releases authorise authorize authorises authorizes confirm confirms accept
    reject rejects sign signs signing countersign publish publishes post posts issue issues invite order orders buy
    purchase book books cancel cancels terminate revoke void reverse delete deletes remove removes purge erase destroy
    merge deploy dunning remind escalate write-off close lock finalise finalize commit
    einreichen reicht übermitteln übermittelt uebermitteln uebermittelt abgeben senden sendet versenden versendet
    verschicken verschickt absenden zustellen bezahlen bezahlt zahlen zahlt überweisen überweist ueberweisen ueberweist
    auszahlen abbuchen einziehen freigeben genehmigen genehmigt bewilligen bestätigen bestätigt bestaetigen bestaetigt
    unterschreiben unterzeichnen signieren veröffentlichen veröffentlicht veroeffentlichen buchen bucht verbuchen
    festschreiben stornieren storniert kündigen kündigt kuendigen löschen löscht loeschen entfernen beauftragen
    bestellen bestellt mahnen mahnt abschließen abschliessen anmelden abmelden melden
"""
ACTS = frozenset(_ACTS.split())
"""Verbs that bind, in the forms in which tools are named and described.

Only whole words count: `get_payment_status` pays nothing.
"""

_OBJECTS = """
    payment payments transfer submission approval cancellation order refund signature dunning reminder filing
    zahlung zahlungen überweisung ueberweisung abgabe einreichung freigabe genehmigung kündigung kuendigung stornierung
    storno bestellung versand mahnung mahnlauf unterschrift buchung auszahlung lastschrift
"""
OBJECTS = frozenset(_OBJECTS.split())
"""What acts are about: in a tool's name they count unless a word of reading stands beside them (`create_payment`)."""
_READING = """
    get list read search find lookup look show view count check compute calculate compare describe explain summarize
    summarise history status terms hole holt liste lies liest lesen suche suchen finde zeige zeigen pruefe prüfe prüfen
    berechne berechnen vergleiche draft drafts propose suggest entwurf vorschlag
"""
READING = frozenset(_READING.split())
CLASSES: tuple[tuple[str, str, str], ...] = (
    # class of universal verb, words of name and description, names of parameters
    (
        "shell",
        r"shell|bash|powershell|terminal|tmux|subprocess|spawn|exec|execute|ssh|kubectl|docker|process_run",
        r"command|cmd|argv",
    ),
    (
        "code",
        r"eval|interpreter|notebook|python|javascript|macro|script|code_mode|formula|run_code",
        r"code|script|expression|macro|formula",
    ),
    (
        "http",
        r"http|https_request|webhook|graphql|odata|json_?rpc|call_api|api_call|openapi|curl|rest_call",
        r"http_method|headers|webhook\w*|mutation|request_body",
    ),
    ("fetch", r"fetch|fetch_url|open_url|download_url|crawl|scrape|get_url|abrufen", r"ur[il]|link|href|endpoint"),
    (
        "browser",
        r"browser|computer_use|click|keyboard|mouse|screenshot|desktop|selenium|playwright|accessibility",
        r"selector|xpath|coordinates",
    ),
    (
        "message",
        r"e?mails?|smtp|sms|chat_message|slack|whatsapp|push_notification|notify|notification|invitation|comment|print|fax|postal|brief|benachrichtigen|share",
        r"recipients?|to|cc|bcc|empfaenger|empfänger|phone|channel",
    ),
    ("query", r"sql|raw_query|orm|elasticsearch|mongodb?|redis|cypher|sparql", r"sql|statement|where_clause|cypher"),
    (
        "file_write",
        r"write_file|save_file|upload|put_object|cron|crontab|hook|outbox|memory_write|skill_write",
        r"file_path|path|destination|target_folder",
    ),
    (
        "trigger",
        r"enqueue|publish_event|trigger|workflow_run|run_workflow|schedule|scheduler|timer|feature_flag|auto_approve|cronjob|planen",
        r"cron|run_at|execute_at|topic|queue|event_type",
    ),
    (
        "proxy",
        r"mcp|gateway|proxy|call_tool|invoke_tool|tool_search|register_tool|load_skill|delegate|sub_?agent|a2a|sampling",
        r"tool|tool_name|tool_args|agent",
    ),
    (
        "credentials",
        r"token|password|passwort|secret|cookie|api_?key|signed_url|magic_link|otp|credential\w*|zugangsdaten",
        r"password|secret|otp|credential\w*",
    ),
    (
        "crud",
        r"upsert|patch|set_property|bulk_import|import_csv|update_record|update_entity|json_patch|bulk_update",
        r"fields|patch|properties|updates|changes|entity|status|state|approved\w*|paid|paid_at|submitted\w*|released\w*|bezahlt|freigegeben\w*",
    ),
    (
        "multiplexed",
        r"do_action|perform|manage|handle_request",
        r"method|action|operation|op|event|verb|aktion|methode",
    ),
    (
        "settings",
        r"set_permission|grant|change_settings|autopilot|set_recipient|set_bank_account|add_user|configure|einstellung\w*",
        r"permissions?|role|autopilot|bank_account|payee|iban_new",
    ),
    (
        "rendered",
        r"render_html|render_markdown|deep_?link|clipboard|prefill|zwischenablage",
        r"html|deep_?link|redirect\w*",
    ),
    ("bridge", r"elicit\w*|mcp_app|on_behalf|impersonate|act_as", r"on_behalf_of|act_as|impersonate"),
    (
        "time",
        r"auto_renew|scheduled_send|objection|deemed_accepted|standing_order|dauerauftrag|widerspruchsfrist",
        r"effective_at|auto_submit|send_at|due_action",
    ),
)
"""The seventeen kinds of universal verb: whoever holds one can do anything, whatever it is called."""
