"""The words by which `binding` looks for tools that bind, German and English, in its one spelling.

All lower case, umlauts as ae, oe, ue, ss.
"""

import re

_ACTS = """
    submit submits submitting file files filing send sends sending resend transmit transmits deliver delivers
    pay pays paying prepay repay remit remits transfer transfers wire withdraw refund charge debit collect capture
    settle settles disburse disburses reimburse lodge lodges dispatch dispatches forward forwards register registers
    approve approves approving preapprove release releases authorise authorize authorises authorizes confirm confirms
    accept reject rejects sign signs signing countersign publish publishes post posts issue issues invite
    order orders buy purchase book books cancel cancels terminate terminates revoke void reverse delete deletes
    remove removes purge erase destroy merge deploy dunning remind escalate close lock finalise finalize commit
    einreichen reicht einzureichen uebermitteln uebermittelt uebermittle abgeben abzugeben senden sendet sende
    versenden versendet verschicken verschickt absenden abzusenden abschicken abschickt abzuschicken zustellen
    bezahlen bezahlt zahlen zahlt ueberweisen ueberweist auszahlen auszuzahlen abbuchen einziehen einzuziehen
    begleichen begleicht entrichten entrichtet freigeben freigibt freizugeben genehmigen genehmigt bewilligen bewilligt
    bestaetigen bestaetigt unterschreiben unterschreibt unterzeichnen unterzeichnet signieren signiert
    veroeffentlichen veroeffentlicht buchen bucht verbuchen verbucht festschreiben stornieren storniert
    kuendigen kuendigt loeschen loescht entfernen entfernt beauftragen beauftragt beantragen beantragt
    bestellen bestellt mahnen mahnt anweisen anweist anzuweisen ausloesen ausloest auszuloesen ausfuehren ausfuehrt
    auszufuehren weiterleiten weiterleitet abschliessen anmelden anzumelden abmelden melden meldet
"""
ACTS = frozenset(_ACTS.split())
"""Verbs that bind, in the forms in which tools are named and described.

Only whole words count: `get_payment_status` pays nothing.
"""

_THINGS = """
    file files filing order orders book books post posts issue issues release releases charge debit capture wire lock
    close sign signs register registers transfer transfers refund purchase invite collect remove dunning
"""
THINGS = frozenset(_THINGS.split())
"""Acts that are as often the name of a thing: the text that explains a parameter may speak of them."""

JOINED = r"submit(?!t)|(?:pay|send|sign|file)(?:bills?|invoices?|returns?|orders?|now|all)\b|auto(?:pay|send|file|sign)"
"""Verbs that bind, grown together with other words: `autosubmit`, `paybill`."""

_GAP = r"[^!?;\n.]{0,300}?"
_END = r"(?=\s*(?:[.,;:!?)]|$|(?:und|oder|sowie|and)\b))"
_SEPARABLE = (
    ("gibt|geben", "frei|ab|weiter"),
    ("weist|weisen", "an"),
    ("schickt|schicken", "ab|los|weiter"),
    ("loest|loesen", "aus"),
    ("fuehrt|fuehren", "aus"),
    ("zieht|ziehen", "ein"),
    ("stellt|stellen", "zu|aus"),
    ("lehnt|lehnen", "ab"),
    ("leitet|leiten", "weiter"),
    ("haendigt|haendigen", "aus"),
    ("schliesst|schliessen", "ab"),
    ("schreibt|schreiben", "fest"),
)
_DEEDS = """
    uebermittlung uebertragung einreichung abgabe ueberweisung freigabe anweisung ausloesung ausfuehrung versand
    stornierung kuendigung auszahlung begleichung beantragung zustellung genehmigung submission transmission
    cancellation approval disbursement dispatch settlement
"""
_OF = "of|to|der|des|von|vom|an|zur|einer?s?"
PHRASES = (
    *(rf"\b(?:{verbs})\b{_GAP}\b(?:{particles})\b{_END}" for verbs, particles in _SEPARABLE),
    rf"\b(?:uebertraegt|uebertragen)\b{_GAP}\b(?:an|ans)\b",
    r"(?:^|[_\W])hand(?:s|ing)?[_\W]+in(?=$|[_\W])",
    r"(?:^|[_\W])(?:write|writes|writing)[_\W]+offs?(?=$|[_\W])",
    rf"(?:^|[.!?]\s+)(?:die |the )?(?:{'|'.join(_DEEDS.split())})(?:en|s)?\s+(?:{_OF})\b",
)
"""Acts of several words: separable verbs, a deed as the head of a sentence (`Versand von Rechnungen`)."""

_OBJECTS = """
    payment payments transfer transfers submission approval cancellation order refund signature dunning reminder filing
    zahlung zahlungen ueberweisung ueberweisungen abgabe einreichung freigabe genehmigung kuendigung stornierung
    storno bestellung versand mahnung mahnlauf unterschrift buchung auszahlung lastschrift uebermittlung uebertragung
    anweisung zustellung ausfuehrung
"""
OBJECTS = frozenset(_OBJECTS.split())
"""What acts are about: in a tool's name they count unless a word of reading stands beside them (`create_payment`)."""
COMPOUND = re.compile(
    r"\w+(?:ueberweisung|einreichung|freigabe|uebermittlung|uebertragung|auszahlung|lastschrift|anweisung|stornierung"
    r"|kuendigung|mahnung|versand|bestellung|abgabe)(?:en)?"
)
"""The same as the head of a German compound: `rechnungsversand`."""
_READING = """
    get list read search find lookup look show view count check compute calculate compare describe explain summarize
    summarise history status terms hole holt liste lies liest lesen suche suchen finde zeige zeigen pruefe pruefen
    berechne berechnen vergleiche
"""
READING = frozenset(_READING.split())
"""Words of a name that say it only looks, unless one of `MAKING` stands there too: `create_payment_list`."""
PROPOSING = frozenset({"draft", "drafts", "propose", "suggest", "entwurf", "vorschlag"})
"""Words of a name that say it only proposes."""
_MAKING = """
    create creates make makes initiate start trigger triggers execute apply perform add new run do process prepare
    erstelle erstellen anlegen erzeuge erzeugen neue starte starten ausloesen
"""
MAKING = frozenset(_MAKING.split())
SWITCH = re.compile(r"submit|send|confirm|publish|execute|force|commit|dry_?run|final|approve|pay|go_?live")
"""Names of parameters that turn a harmless call into one that binds, of whatever type."""
FLAG = re.compile(
    r"(?:submit|send|confirm|publish|execute|force|commit|dry_?run|auto_?\w+|final|approve|pay)(?:_\w+)?|\w+_now"
    r"|(?:is_)?(?:live|test|real|prod|production|sandbox|simulate|simulation|preview)(?:_(?:mode|run|only))?"
    r"|(?:as_)?draft|(?:validate|check|preview)_only|echt|scharf|(?:test|probe)lauf|(?:nur_)?(?:pruefen|test)|verbindlich"
)
"""Names of yes-or-no parameters that do so."""
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
        r"recipients?|to|cc|bcc|empfaenger|phone|channel",
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
        r"mcp|gateway|proxy|call_tool|invoke_tool|use_tool|run_tool|execute_tool|rpc|tool_search|register_tool|load_skill|delegate|sub_?agent|a2a|sampling",
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
