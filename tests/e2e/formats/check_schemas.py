"""Validates csolution files: check_schemas.py FOLDER-OF-SCHEMAS FILE...

A file NAME.KIND.yml is checked by KIND.schema.json of that folder. Needs the Python packages jsonschema and yaml.
"""
import json
import pathlib
import sys
import warnings

import jsonschema
import yaml

warnings.simplefilter("ignore", DeprecationWarning)  # of RefResolver, which Debian's version needs
folder = pathlib.Path(sys.argv[1]).resolve()
schemas = {path.name: json.loads(path.read_text()) for path in folder.glob("*.schema.json")}
# They refer to each other relative to their own addresses, which are not asked for.
store = {schema.get("$id", name): schema for name, schema in schemas.items()}
failed = False
for name in sys.argv[2:]:
    schema = schemas[name.rsplit(".", 2)[-2] + ".schema.json"]
    address = schema.get("$id", "")
    beside = {address.rpartition("/")[0] + "/" + other: text for other, text in schemas.items()}
    resolver = jsonschema.RefResolver(address, schema, store={**beside, **store})
    kind = jsonschema.validators.validator_for(schema)
    with open(name, encoding="utf-8") as file:
        document = yaml.safe_load(file)
    for error in kind(schema, resolver=resolver).iter_errors(document):
        print(f"{name}: {error.json_path}: {error.message}")
        failed = True
sys.exit(failed)
