import { ApiError, declareErrors } from '../platform';

/** The error codes of uploads. 460 is a status of the tus protocol. */
export const UploadErrors = declareErrors({
  QUOTA_EXCEEDED: { status: 413, message: 'There is no room for this in your quota' },
  CHECKSUM_MISMATCH: { status: 460, message: 'The bytes do not match the checksum in Upload-Checksum' },
});

/** 503 for a preempted request: the bytes received so far count, and the client may continue later. */
export const preempted = (): ApiError =>
  new ApiError('SERVICE_UNAVAILABLE', {
    message: 'Others wait for a place among the uploads, try again later',
    headers: { Connection: 'close' },
  });

/** 503 when the requests of all users are as many as may run. */
export const tooManyOfAll = (): ApiError =>
  new ApiError('SERVICE_UNAVAILABLE', { message: 'Too many uploads are under way, try again later' });
