/**
 * Keeps credentials out of what is shown: user names and passwords in URLs, and values of an environment that was given
 * for one fetch. Everything that git prints goes through here before it becomes a message.
 */

/** Shorter values are words such as 'true', and hiding them everywhere would hide the message. */
const MIN_SECRET_LENGTH = 8;

/** The text with the user information of every URL removed: https://user:secret@host/ -> https://host/. */
export function redactUrls(text: string): string {
  return text.replace(/\b([a-z][a-z0-9+.-]*:\/\/)[^/\s]*@/gi, '$1');
}

/** A function that redacts URLs, and the values that `env` holds, from a text. */
export function redactor(env: Readonly<Record<string, string>> = {}): (text: string) => string {
  const secrets = new Set<string>();
  for (const [name, value] of Object.entries(env)) {
    // Keys and counts are no secrets, and switches are words.
    if (/^GIT_CONFIG_(KEY_\d+|COUNT)$/.test(name)) continue;
    // "AUTHORIZATION: basic XXXX": the last part alone is the secret too. In GIT_CONFIG_PARAMETERS it is in quotes.
    const last = value.split(/\s+/).at(-1) ?? '';
    for (const part of [value, last, last.replace(/'$/, '')]) if (part.length >= MIN_SECRET_LENGTH) secrets.add(part);
  }
  // Longest first, so that no secret is left in part.
  const ordered = [...secrets].sort((a, b) => b.length - a.length);
  return (text) => redactUrls(ordered.reduce((rest, secret) => rest.replaceAll(secret, '***'), text));
}
