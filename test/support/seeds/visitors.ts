// Where a visitor comes from who asks for an account.

export const VISITOR = { address: "203.0.113.9", network: "203.0.113.0/24", userAgent: "test" };
