#!/usr/bin/env python3
"""Reads all vectors with a second implementation (`second_reader`): valid ones give the fields that they name, invalid ones are refused for
the failure that they name. Exits 1 if one does not."""
import glob
import json
import os
import sys

from second_reader import Refused, browsers, codes, items, sites, sockets, ssh, state, texts
from second_reader.backups import backup, folder
from second_reader.carriers import carrier_message, etcd_head
from second_reader.circles import document
from second_reader.der import read_message
from second_reader.records import access_record, series_uses
from second_reader.exports import export, recovery_key
from second_reader.forwarding import forwarded_prompt
from second_reader.heads import log_head, sync_log_head
from second_reader.syncs import compaction_record, join_request, join_token, recovery_statement, sync_file
from second_reader.transfers import transfer_entry

here = os.path.dirname(os.path.abspath(__file__))

# Each file of Vectors/formats and what reads it.
FORMATS = {
    'access-log': access_record, 'access-log-uses': series_uses, 'adopted-items': texts.adopted_items, 'application-names': texts.application_name, 'associated-domains': sites.associated_domain,
    'association-files': sites.association_file, 'browser-messages': browsers.browser_message,
    'code-signatures': codes.code_signature, 'csv': items.csv,
    'entitlements': texts.entitlements, 'etcd-heads': etcd_head, 'forwarded-prompts': forwarded_prompt, 'frames': sockets.frame, 'greetings': sockets.greeting, 'halves': state.half,
    'holder': texts.holder, 'integrity': texts.integrity, 'launcher-record': texts.launcher_record, 'machine': texts.machine,
    'log-heads': log_head, 'one-time-codes': items.one_time_code, 'rights': items.right, 'rooms': texts.rooms, 'secret-service': items.secret_service,
    'service-file': texts.service_file, 'ssh-agent': ssh.request, 'ssh-hold': ssh.hold, 'ssh-keys': ssh.key, 'ssh-signed-data': ssh.signed_data,
    'state-envelopes': state.envelope, 'sync-carrier': carrier_message, 'sync-compaction-records': compaction_record, 'sync-documents': document, 'sync-files': sync_file, 'sync-join-requests': join_request, 'sync-log-heads': sync_log_head,
    'sync-recovery-statements': recovery_statement, 'sync-tokens': join_token,
    'transfer-entries': transfer_entry,
    'uids': texts.uids, 'verdicts': state.verdict, 'wallet-maps': items.wallet_map,
}


def outcome(read, *arguments):
    """Returns what reading gives, and the failure if it gives nothing."""
    try:
        return read(*arguments), None
    except Refused as why:
        return None, str(why)


def vectors(name):
    with open(f'{here}/{name}', encoding='utf-8') as file:
        return json.load(file)['vectors']


def check_format(name):
    read = FORMATS.get(os.path.basename(name)[:-len('.json')])
    if read is None:
        yield 'no reader is written for it'
        return
    for vector in vectors(name):
        data = bytes.fromhex(vector['bytes']) if 'bytes' in vector else vector['text'].encode()
        fields, failure = outcome(read, data, vector.get('given', {}))
        if fields != vector.get('fields') or failure != vector.get('failure'):
            yield f"{vector['name']}: {failure or fields}"


def check_wire(name):
    for vector in vectors(name):
        failure = vector.get('failure', '')
        _, refused = outcome(read_message, bytes.fromhex(vector['bytes']))
        # What is wrong with a message alone is valid DER.
        if refused != (failure if failure.startswith('DER: ') else None):
            yield f"{vector['message']} ({failure or 'valid'}): {refused or 'accepted'}"


def check_recovery_keys(name):
    for vector in vectors(name):
        if outcome(recovery_key, vector['digits']) != (vector.get('key'), vector.get('failure')):
            yield f"{vector['digits']}: {outcome(recovery_key, vector['digits'])}"


def check_exports(name):
    for vector in vectors(name):
        result = outcome(export, bytes.fromhex(vector['bytes']), vector['passphrase'].encode())
        if result != (vector.get('items'), vector.get('failure')):
            yield f"{vector['name']}: {result}"


def check_backups(name):
    for vector in vectors(name):
        read, data = (folder, {name: bytes.fromhex(text) for name, text in vector['files'].items()}) if 'files' in vector else (
            backup, bytes.fromhex(vector['bytes']))
        result = outcome(read, data, vector['passphrase'].encode(), vector.get('restoreKey'))
        if result != (vector.get('items'), vector.get('failure')):
            yield f"{vector['name']}: {result}"


def files(folder):
    return sorted(f'{folder}/{os.path.basename(path)}' for path in glob.glob(f'{here}/{folder}/*.json'))


checks = [(name, check_wire) for name in files('wire')] + [(name, check_format) for name in files('formats')]
checks += [('recovery-key.json', check_recovery_keys), ('export.json', check_exports)]
checks += [(name, check_backups) for name in files('backup')]
faults = 0
for name, check in checks:
    found = list(check(name))
    faults += len(found)
    for fault in found:
        print(f'FAILED: {name}: {fault}')
    if not found:
        print(f'ok: {name}')
sys.exit(1 if faults else 0)
