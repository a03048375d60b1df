"""Opens a cookie of Chromium's profile with a key of the Secret Service, as Chromium does on Linux, and compares its value:
chromium-cookie.py PROFILE KEY-FILE NAME VALUE."""
import glob, hashlib, sqlite3, sys
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

profile, key_file, name, value = sys.argv[1:]
[path] = glob.glob(f"{profile}/Default/Cookies") or glob.glob(f"{profile}/Default/Network/Cookies")
[(plain, sealed)] = sqlite3.connect(f"file:{path}?mode=ro", uri=True).execute("select value, encrypted_value from cookies where name = ?", (name,))
assert plain == "" and sealed[:3] == b"v11", "the cookie is not encrypted with a key of the Secret Service"
key = hashlib.pbkdf2_hmac("sha1", open(key_file, "rb").read().rstrip(b"\n"), b"saltysalt", 1, 16)
cipher = Cipher(algorithms.AES(key), modes.CBC(b" " * 16)).decryptor()
opened = cipher.update(sealed[3:]) + cipher.finalize()
# In newer databases a digest of the host precedes the value; padding follows it.
assert value.encode() in opened[: -opened[-1]], "another key encrypted the cookie"
