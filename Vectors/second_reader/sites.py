"""Entries of associated domains, and association files of websites (Specs/associated-domains.md)."""
import json
import re

from . import Refused, require

LABEL = re.compile('[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?')


def host(text):
    require(text.isascii() and 1 <= len(text) <= 253, 'host')
    labels = text.lower().split('.')
    require(len(labels) >= 2 and all(LABEL.fullmatch(label) for label in labels), 'host')
    require(labels[-1] not in ('local', 'localhost') and re.search('[a-z]', labels[-1]), 'host')
    return text.lower()


def associated_domain(data, given):
    service, colon, rest = data.decode().partition(':')
    require(colon and re.fullmatch('[a-z]+', service), 'form')
    require('?' not in rest, 'mode')
    below = rest.startswith('*.')
    name = host(rest[2:] if below else rest)
    covers = given['host'].endswith(f'.{name}') and given['host'] != f'.{name}' if below else given['host'] == name
    return {'service': service, 'host': name, 'covers': 'yes' if covers else 'no'}


def texts(value, failure):
    require(isinstance(value, list) and all(isinstance(each, str) for each in value), failure)
    return value


def names(value):
    require(len(texts(value, 'apps')) <= 200, 'count')
    for name in value:
        require(len(name) <= 255 and re.fullmatch(r'[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+', name), 'name')
    return value


def section(file, key):
    found = file.get(key, {})
    require(isinstance(found, dict), 'section')
    return found


def paths(link):
    components = link.get('components', [])
    require(isinstance(components, list) and all(isinstance(each, dict) for each in components), 'details')
    return texts(link.get('paths', []), 'paths')


def links(section):
    names(section.get('apps', []))
    details = section.get('details', [])
    require(isinstance(details, (list, dict)), 'details')
    found = []
    if isinstance(details, dict):
        for name, link in details.items():
            names([name])
            found.append((name, paths(link) if isinstance(link, dict) else texts(link, 'paths')))
    else:
        for link in details:
            require(isinstance(link, dict), 'details')
            allowed = paths(link)
            require('appIDs' in link or 'appID' in link, 'details')
            found += [(name, allowed) for name in names(link['appIDs'] if 'appIDs' in link else [link['appID']])]
    require(len(found) <= 200, 'count')
    return found


def once(pairs):
    require(len({key for key, _ in pairs}) == len(pairs), 'json')
    return dict(pairs)


def depth(value):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return 1 + max(map(depth, inner), default=0)


def association_file(data, given):
    require(len(data) <= 131072, 'size')
    require(not data.startswith(b'0'), 'signed')
    try:
        file = json.loads(data.decode(), object_pairs_hook=once)
    except (ValueError, RecursionError):
        raise Refused('json')
    require(depth(file) <= 40, 'json')
    require(isinstance(file, dict), 'object')
    passwords = names(section(file, 'webcredentials').get('apps', []))
    activities = names(section(file, 'activitycontinuation').get('apps', []))
    names(section(file, 'appclips').get('apps', []))
    return {
        'webcredentials': ' '.join(passwords), 'activitycontinuation': ' '.join(activities),
        'applinks': ' '.join(f"{name}={','.join(allowed)}" for name, allowed in links(section(file, 'applinks'))),
    }
