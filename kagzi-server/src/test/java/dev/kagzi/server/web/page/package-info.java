/** Tests of what pages share. */
@NullMarked
package dev.kagzi.server.web.page;

import org.jspecify.annotations.NullMarked;
