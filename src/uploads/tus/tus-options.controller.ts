import { Controller, HttpCode, HttpStatus, Options, Res } from '@nestjs/common';
import { ApiExcludeEndpoint } from '@nestjs/swagger';
import type { Response } from 'express';
import { Public } from '../../platform';
import { UploadSettings } from '../upload-settings';
import { answerOptions } from './upload-headers';

/** Answers the OPTIONS requests by which clients of the protocol find out what is supported. */
@Controller('uploads')
@Public({ identifies: false })
export class TusOptionsController {
  constructor(private readonly settings: UploadSettings) {}

  /** Tells what is spoken here of the tus protocol. */
  @Options()
  @HttpCode(HttpStatus.NO_CONTENT)
  @ApiExcludeEndpoint()
  options(@Res({ passthrough: true }) response: Response): void {
    answerOptions(response, 'GET, HEAD, POST, OPTIONS', this.settings.MAX_UPLOAD_SIZE);
  }

  /** Tells what can be done with an upload. */
  @Options(':key')
  @HttpCode(HttpStatus.NO_CONTENT)
  @ApiExcludeEndpoint()
  optionsOfOne(@Res({ passthrough: true }) response: Response): void {
    answerOptions(response, 'GET, HEAD, PATCH, DELETE, OPTIONS', this.settings.MAX_UPLOAD_SIZE);
  }
}
