import { Body, Controller, Delete, HttpStatus, Ip, Post, Put } from '@nestjs/common';
import { Public } from '../../auth/access.decorators';
import { ApiItem, ApiNothing, ApiResource, Raises } from '../../conventions/docs/api.decorators';
import { RefreshDto, SignInDto, TokensDto, toTokensDto } from './token.dto';
import { TokensService } from './tokens.service';

@ApiResource('Tokens')
@Controller('auth/tokens')
@Public({ identifies: false })
export class TokensController {
  constructor(private readonly tokens: TokensService) {}

  /** Signs in: exchanges a password for a pair of tokens. */
  @Post()
  @ApiItem(TokensDto, HttpStatus.CREATED)
  @Raises('UNAUTHORIZED', 'TOO_MANY_REQUESTS')
  async create(@Body() input: SignInDto, @Ip() address: string): Promise<TokensDto> {
    return toTokensDto(await this.tokens.signIn(input, address));
  }

  /** Prolongs a session: exchanges a refresh token, once, for a new pair. */
  @Put()
  @ApiItem(TokensDto)
  @Raises('UNAUTHORIZED')
  async replace(@Body() input: RefreshDto): Promise<TokensDto> {
    return toTokensDto(await this.tokens.refresh(input));
  }

  /** Signs out: ends the session, and with it all its tokens. */
  @Delete()
  @ApiNothing()
  @Raises('UNAUTHORIZED')
  remove(@Body() input: RefreshDto): Promise<void> {
    return this.tokens.signOut(input);
  }
}
