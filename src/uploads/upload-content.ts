import { pipeline } from 'node:stream/promises';
import { Injectable } from '@nestjs/common';
import contentDisposition from 'content-disposition';
import type { Request, Response } from 'express';
import type { Caller } from '../platform';
import { Callers, knownTag, networkOf, quoted } from '../platform/features';
import { Admission } from './admission';
import { uploadBytes } from './upload-measures';
import { type ByteRange, ByteStore } from './bytes/byte-store';
import { reportContentGone } from './bytes/content-gone';
import { type ContentTerms, IMAGE_TYPES } from './content-terms';
import { type Slot, rateOf } from './fair-slots';
import { rangeOf } from './requested-range';
import type { Upload } from './upload.entity';
import { UploadSettings } from './upload-settings';

/** A policy under which nothing in the content runs, wherever it is opened: users have uploaded it. */
const POLICY = "sandbox; default-src 'none'";
/** Downloads per upload request: a download takes no lock, and media players open several. */
const DOWNLOADS = 4;

/** An upload that may be read. */
export interface Opened {
  upload: Upload;
  terms: ContentTerms;
}

/** Sends the bytes of complete uploads: whole, or one range of them. */
@Injectable()
export class UploadContent {
  private readonly admission: Admission;

  constructor(
    private readonly bytes: ByteStore,
    private readonly callers: Callers,
    { UPLOAD_MAX_OPEN: total, UPLOAD_MAX_OPEN_PER_USER: perUser }: UploadSettings,
  ) {
    this.admission = new Admission({ perUser: DOWNLOADS * perUser, total: DOWNLOADS * total }, 'read');
  }

  /**
   * The downloads of a network's strangers are limited together, like those of one user.
   * @param open finds the upload, unless it may not be read; called again after the request has waited
   * @throws {ApiError} TOO_MANY_REQUESTS when the caller has too many downloads
   * @throws {AuthenticationError} when the caller has lost its rights while it waited
   */
  async send(
    open: () => Promise<Opened>,
    caller: Caller | undefined,
    request: Request,
    response: Response,
  ): Promise<void> {
    const opened = await open();
    const { size, checksum } = opened.upload;
    const tag = checksum!;
    if (knownTag(tag, request) !== undefined) return sendNotModified(response, tag, opened.terms);
    const range = rangeOf(request, size, quoted(tag));
    await this.admission.during(caller?.id ?? networkOf(request.ip), request, async (place, waited) => {
      const { upload, terms } = waited ? await this.reopen(open, caller) : opened;
      // The time limit may have answered meanwhile.
      if (response.headersSent) return;
      setHeaders(response, upload, terms);
      await this.answer(upload, range, response, place);
    });
  }

  private async reopen(open: () => Promise<Opened>, caller: Caller | undefined): Promise<Opened> {
    await this.callers.confirm(caller);
    return open();
  }

  private async answer(upload: Upload, range: ByteRange | undefined, response: Response, place: Slot): Promise<void> {
    const { size } = upload;
    const length = range ? range.end - range.start + 1 : size;
    response.setHeader('Content-Length', length);
    if (range) response.setHeader('Content-Range', `bytes ${range.start}-${range.end}/${size}`);
    response.statusCode = range ? 206 : 200;
    if (response.req.method === 'HEAD' || length === 0) response.end();
    else await this.stream(upload, range, length, response, place);
  }

  private async stream(
    upload: Upload,
    range: ByteRange | undefined,
    length: number,
    response: Response,
    place: Slot,
  ): Promise<void> {
    let sent = 0;
    const start = performance.now();
    // The client requests the rest by a range.
    const preempt = () => void response.destroy();
    const bytesPerSecond = () => rateOf(sent, performance.now() - start);
    place.preempt = preempt;
    place.bytesPerSecond = bytesPerSecond;
    try {
      const stored = await this.bytes.read(upload.key, range);
      stored.on('data', (chunk: Buffer) => {
        sent += chunk.length;
        uploadBytes.add({ direction: 'out' }, chunk.length);
        response.req.timeLimit?.progress(chunk.length);
      });
      await pipeline(stored, response, { end: false });
    } catch (error) {
      await this.giveUp(upload, response, error);
    }
    if (sent === length) response.end();
    else await this.giveUp(upload, response);
  }

  /** An answer that has begun can only be broken off. It isn't an error if the client has gone. */
  private async giveUp({ key, size }: Upload, response: Response, error?: unknown): Promise<void> {
    if (response.destroyed) return;
    const lost = (await this.bytes.offsetOf(key, size)) === size ? undefined : reportContentGone(key, error);
    if (!response.headersSent) throw lost ?? error;
    response.destroy();
  }
}

function setHeaders(response: Response, { key, filename, media_type, checksum }: Upload, terms: ContentTerms): void {
  const type = terms.isShown && IMAGE_TYPES.includes(media_type) ? 'inline' : 'attachment';
  response.setHeader('Content-Type', media_type);
  response.setHeader('Content-Disposition', dispositionOf(filename ?? key, type));
  response.setHeader('Content-Security-Policy', POLICY);
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Accept-Ranges', 'bytes');
  setValidators(response, checksum!, terms);
}

/** RFC 6266, with an ASCII file name for clients that don't support others. */
function dispositionOf(filename: string, type: 'inline' | 'attachment'): string {
  return contentDisposition(filename, { type, fallback: filename.replace(/[^\x20-\x7e]/gu, '_') });
}

function sendNotModified(response: Response, tag: string, terms: ContentTerms): void {
  setValidators(response, tag, terms);
  response.statusCode = 304;
  response.end();
}

function setValidators(response: Response, tag: string, { cacheControl, isShown }: ContentTerms): void {
  response.setHeader('ETag', quoted(tag));
  response.setHeader('Cache-Control', cacheControl);
  if (isShown) response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
}
