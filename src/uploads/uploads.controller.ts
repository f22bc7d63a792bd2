import { Body, Controller, Delete, Get, HttpStatus, Patch, Post, Put, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import {
  Answers,
  AnswersNothing,
  AnswersPage,
  AnswersWhole,
  ApiError,
  ApiResource,
  type Caller,
  CurrentUser,
  gibibytes,
  IfMatch,
  KeyParam,
  notTheOwner,
  type Page,
  type Precondition,
  Raises,
  requireExpected,
  Role,
  Roles,
  TakesNoKey,
  ReadsPrimary,
} from '../platform';
import { tooManyOfUser } from './admission';
import { contentGone } from './bytes/content-gone';
import { tooLong, TusEndpoint } from './tus/tus-endpoint';
import { checksumMismatch } from './tus/tus-store';
import { ListUploadsQuery, toUploadDto, UploadDto } from './upload.dto';
import * as docs from './upload.decorators';
import * as headers from './tus/upload-headers';
import { locked } from './locks/upload-locks';
import { expired, offsetConflict, quotaExceeded } from './upload-rows';
import { stillShown, UploadsService } from './uploads.service';
import { VisibilityDto } from './visibility.dto';

@ApiResource(
  'Uploads',
  'Large files in pieces that can be resumed, by the tus 1.0.0 protocol: https://tus.io. Others read a file by a link, or when it is public; a resource shows a public image whose key is its `image`.',
)
@docs.ApiTusHeaders()
// The bytes are those of the primary's row.
@ReadsPrimary()
@Controller('uploads')
export class UploadsController {
  constructor(
    private readonly uploads: UploadsService,
    private readonly tus: TusEndpoint,
  ) {}

  /**
   * Lists uploads.
   * @remarks Users see their own uploads, administrators all uploads.
   */
  @Get()
  @Roles(Role.USER)
  @AnswersPage(UploadDto)
  @Raises(notTheOwner())
  async list(@Query() query: ListUploadsQuery, @CurrentUser() caller: Caller): Promise<Page<object>> {
    return (await this.uploads.list(query, caller)).map(toUploadDto);
  }

  /**
   * Reads one upload.
   * @remarks A tus client sends HEAD before it continues an upload: `Upload-Offset` is the offset of the next chunk.
   */
  @Get(':key')
  @Roles(Role.USER)
  @Answers(UploadDto)
  @docs.ApiTusVersion()
  @docs.ApiUploadHeaders(HttpStatus.OK)
  @Raises(notTheOwner(), headers.wrongVersion(), expired())
  async get(
    @KeyParam() key: string,
    @CurrentUser() caller: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<UploadDto> {
    headers.requireVersion(request);
    const upload = await this.uploads.get(key, caller);
    headers.describe(response, upload);
    return toUploadDto(upload);
  }

  /**
   * Creates an upload.
   * @remarks The body may contain the first bytes. The whole size counts in the quota at once, until the upload is deleted
   * or expires. The uploads of a user have at most 20 GiB together, a user has at most 10,000 uploads, and an upload at most
   * 5 GiB; the operator may set other limits.
   */
  @Post()
  @Roles(Role.USER)
  @AnswersWhole(UploadDto, HttpStatus.CREATED)
  @docs.ApiTusCreation()
  @TakesNoKey('an upload is not created again but resumed, where HEAD says')
  @docs.ApiUploadHeaders(HttpStatus.CREATED)
  @Raises(
    headers.wrongVersion(),
    headers.tooLarge(gibibytes(5)),
    quotaExceeded(gibibytes(20), gibibytes(20)),
    tooLong(),
    headers.notAChunk('POST'),
    checksumMismatch(),
    tooManyOfUser(5),
    new ApiError('INSUFFICIENT_STORAGE'),
  )
  async create(
    @CurrentUser() caller: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<UploadDto> {
    headers.requireNewUpload(request);
    const upload = await this.tus.create(request, caller);
    headers.describeNew(response, upload);
    return toUploadDto(upload);
  }

  /**
   * Appends bytes to an upload.
   * @remarks The bytes that the service has received count, also when the connection is lost. Send HEAD to learn the offset
   * of the next chunk. A client that can't send PATCH sends POST with `X-HTTP-Method-Override: PATCH`.
   */
  @Patch(':key')
  @Roles(Role.USER)
  @AnswersNothing()
  @docs.ApiTusChunk()
  @docs.ApiTusOffset()
  @Raises(
    notTheOwner(),
    headers.wrongVersion(),
    offsetConflict(),
    expired(),
    contentGone(),
    tooLong(),
    headers.notAChunk('PATCH'),
    locked(),
    checksumMismatch(),
    tooManyOfUser(5),
    new ApiError('INSUFFICIENT_STORAGE'),
  )
  async append(
    @KeyParam() key: string,
    @CurrentUser() caller: Caller,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
    @IfMatch() expected?: Precondition,
  ): Promise<void> {
    headers.requireChunk(request);
    const upload = await this.uploads.get(key, caller);
    // A concurrent write moves the offset, which is compared under the lock.
    requireExpected(upload, expected);
    headers.describe(response, await this.tus.append(request, upload, caller));
  }

  /**
   * Says who may read the content of an upload.
   * @remarks Everybody may read a public upload at `/uploads/{key}/content`, without a token. A change back to `PRIVATE` takes
   * effect at once here, and within one minute in caches. A picture that a resource shows as its `image` stays public (409).
   */
  @Put(':key/visibility')
  @Roles(Role.USER)
  @Answers(UploadDto)
  @Raises(notTheOwner(), expired(), stillShown())
  async replaceVisibility(
    @KeyParam() key: string,
    @Body() { visibility }: VisibilityDto,
    @CurrentUser() caller: Caller,
    @IfMatch() expected?: Precondition,
  ): Promise<UploadDto> {
    return toUploadDto(await this.uploads.setVisibility(key, visibility, caller, expected));
  }

  /**
   * Deletes an upload, complete or not, with its bytes.
   * @remarks A picture that a resource shows as its `image` can't be deleted (409).
   */
  @Delete(':key')
  @Roles(Role.USER)
  @AnswersNothing()
  @docs.ApiTusVersion()
  @Raises(notTheOwner(), headers.wrongVersion(), stillShown(), locked(), tooManyOfUser(5))
  async remove(
    @KeyParam() key: string,
    @CurrentUser() caller: Caller,
    @Req() request: Request,
    @IfMatch() expected?: Precondition,
  ): Promise<void> {
    headers.requireVersion(request);
    await this.uploads.remove(key, caller, request, expected);
  }
}
