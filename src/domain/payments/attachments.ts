// Files that customers send with what they paid. The type is told from the content, never from the name.

/** Limit for a file, in bytes. */
export const ATTACHMENT_LIMIT_BYTES = 1024 * 1024;

export const ATTACHMENT_TYPES = ["image/png", "image/jpeg", "application/pdf"] as const;
export type AttachmentType = (typeof ATTACHMENT_TYPES)[number];

/** The first bytes of each type, and the ending of the name under which a file is saved. */
const FORMS: Record<AttachmentType, { begins: readonly number[]; ending: string }> = {
  "image/png": { begins: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a], ending: "png" },
  "image/jpeg": { begins: [0xff, 0xd8, 0xff], ending: "jpg" },
  "application/pdf": { begins: [0x25, 0x50, 0x44, 0x46, 0x2d], ending: "pdf" },
};

/** Returns the type of a file; null for any other. */
export function attachmentTypeOf(bytes: Uint8Array): AttachmentType | null {
  const found = ATTACHMENT_TYPES.find((type) =>
    FORMS[type].begins.every((byte, index) => bytes[index] === byte),
  );
  return found ?? null;
}

export function endingOf(type: AttachmentType): string {
  return FORMS[type].ending;
}
