// Encrypts copies to a recipient in the age format (age-encryption.org/v1), which `age --decrypt` reads too. The
// library is loaded only when needed, so that it does not delay the start of the program.

import { BackupError } from "../storage/backup/backup-error.ts";

/** Checks a recipient. Throws BackupError if it is invalid, for example because its checksum is wrong. */
export async function requireRecipient(recipient: string): Promise<void> {
  await encrypterTo(recipient);
}

export async function encrypt(
  content: ReadableStream<Uint8Array>,
  recipient: string,
): Promise<ReadableStream<Uint8Array>> {
  return (await encrypterTo(recipient)).encrypt(content);
}

async function encrypterTo(recipient: string) {
  const { Encrypter } = await import("age-encryption");
  const encrypter = new Encrypter();
  try {
    encrypter.addRecipient(recipient);
  } catch {
    throw new BackupError(`${recipient} is not an age recipient: correct --backup-recipient`);
  }
  return encrypter;
}

/** Decrypts a copy. `identities`: the text of an identity file, as age-keygen writes it. */
export async function decrypt(
  content: ReadableStream<Uint8Array>,
  identities: string,
): Promise<ReadableStream<Uint8Array>> {
  const { Decrypter } = await import("age-encryption");
  const decrypter = new Decrypter();
  const lines = identities.split("\n").map((line) => line.trim());
  const keys = lines.filter((line) => line !== "" && !line.startsWith("#"));
  if (keys.length === 0) throw new BackupError("the --identity file contains no identity");
  try {
    for (const key of keys) decrypter.addIdentity(key);
  } catch {
    throw new BackupError("the --identity file contains a line that is not an age identity");
  }
  try {
    return await decrypter.decrypt(content);
  } catch {
    throw new BackupError("it cannot be decrypted with the identity in --identity");
  }
}
