// Providers: which keys and URLs are well formed.

const KEY = /^[\x21-\x7e]{1,1024}$/;

/** Visible ASCII, as keys are. */
export function isProviderKey(text: string): boolean {
  return KEY.test(text);
}

/** http or https without user name and password: the URL is shown, so it must hold no secret. */
export function isProviderUrl(text: string): boolean {
  const url = URL.parse(text);
  if (!url || url.username !== "" || url.password !== "") return false;
  return url.protocol === "http:" || url.protocol === "https:";
}
