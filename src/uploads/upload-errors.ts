import { declareErrors } from '../platform';

/** Errors that no other resource has. 460 is the status of the tus protocol. */
export const UploadErrors = declareErrors({
  QUOTA_EXCEEDED: { status: 413, message: 'There is no room for this in your quota' },
  CHECKSUM_MISMATCH: { status: 460, message: 'The bytes do not have the checksum that came with them' },
});
