"""Where published versions live: files that any folder, object store or static web server can hold.

    features/<feature>/   head.json · history/00000007.json · releases/<sha256>.json
    prompts/<workflow>/   the same three for workflows without a contract; features.json where one serves it
    tools/<name>/<version>.json

`records` says what the files hold, `shelf` reads and writes one folder of them, `registry` is the whole,
`verify` proves it. The head is the commit point: nothing holds until it names it.
"""
