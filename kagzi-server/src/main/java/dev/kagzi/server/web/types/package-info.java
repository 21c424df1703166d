/** The pages of workflow types: the list, and one type with its versions and its default. */
@NullMarked
package dev.kagzi.server.web.types;

import org.jspecify.annotations.NullMarked;
