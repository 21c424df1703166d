/**
 * The dashboard: translates HTTP requests to page requests and renders the replies. Checks hosts,
 * origins, sessions and the tokens of forms before a page sees a request.
 *
 * <p>Pages are in packages of their own below this one and use {@code web.page} only. They read and
 * change state by the same functions of the engine as the gRPC endpoints; there is no SQL here. All
 * HTML is made by templates ({@code src/main/jte}), which escape every value.
 */
@NullMarked
package dev.kagzi.server.web;

import org.jspecify.annotations.NullMarked;
