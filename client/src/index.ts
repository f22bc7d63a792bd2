export { ApiError, type ErrorCode, isApiError, type Violation } from './api-error.js';
export { type Client1, type Client2, createClient } from './create-client.js';
export type { Changes, ChangesOptions, ChangesPage } from './changes.js';
export type { ClientOptions } from './client.js';
export type { ChangeOptions, CreateOptions, EachResult, WriteOptions } from './collection.js';
export type { Answer, BodyOf, CallOptions, DataOf, OperationAt, QueryOf } from './paths.js';
export type { RetryOptions } from './repetition.js';
export { memoryStore, type Tokens, type TokenStore, webStore } from './token-store.js';
export {
  type VerifyOptions,
  verifyWebhook,
  type WebhookMessage,
  type WebhookRequest,
  WebhookVerificationError,
} from './signed-message.js';
export type { components as Components1, paths as Paths1 } from './generated/v1.js';
export type { components as Components2, paths as Paths2 } from './generated/v2.js';
