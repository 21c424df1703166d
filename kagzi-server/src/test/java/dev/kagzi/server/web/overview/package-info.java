@NullMarked
package dev.kagzi.server.web.overview;

import org.jspecify.annotations.NullMarked;
