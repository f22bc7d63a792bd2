import { declareErrors } from '../platform';

/** The error codes of uploads. 460 is a status of the tus protocol. */
export const UploadErrors = declareErrors({
  QUOTA_EXCEEDED: { status: 413, message: 'There is no room for this in your quota' },
  CHECKSUM_MISMATCH: { status: 460, message: 'The bytes do not match the checksum in Upload-Checksum' },
});
