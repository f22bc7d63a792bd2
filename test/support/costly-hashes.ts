// Imported before the application: the hashes of this file cost as much as in production. See packages/cheap-argon2.cjs.
(globalThis as { areHashesCostly?: boolean }).areHashesCostly = true;
