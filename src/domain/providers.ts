// Upstream services that deliver orders: what of them is well formed.

const NAME = /^[A-Za-z0-9._-]{1,64}$/;
const SERVICE = /^[A-Za-z0-9._-]{1,64}$/;
const KEY = /^[\x21-\x7e]{1,1024}$/;

/** 1 to 64 of letters, digits and `. _ -`. Unique and found without regard to case. */
export function isProviderName(text: string): boolean {
  return NAME.test(text);
}

/** The id of a service at its provider. */
export function isProviderService(text: string): boolean {
  return SERVICE.test(text);
}

/** Visible ASCII, as keys are. */
export function isProviderKey(text: string): boolean {
  return KEY.test(text);
}

/** http or https, and no user name or password in it: an address is shown, so it must hold no secret. */
export function isProviderUrl(text: string): boolean {
  const url = URL.parse(text);
  if (!url || url.username !== "" || url.password !== "") return false;
  return url.protocol === "http:" || url.protocol === "https:";
}
