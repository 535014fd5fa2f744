"""The application's side of a contract: load a released version, keep it, follow the registry.

load → Feature ── Refresher ── FolderReader ── Source (folder, http, fsspec)
          │                        └── DiskCache
          └── run (beleg.contract.run)
"""
