/**
 * A server inside an application: {@link dev.kagzi.embedded.EmbeddedServer}. The server has a class
 * loader of its own. Its libraries, such as gRPC, Flyway, Jackson and Jetty, are inside this
 * module's jar, and the application neither sees them nor replaces them by versions of its own. The
 * two share the JDK and slf4j.
 *
 * <p>Package {@code inside} is loaded by that class loader and knows the server. Everything else
 * here must not know the server: the two class loaders share only the types of the JDK, slf4j and
 * this package.
 */
@NullMarked
package dev.kagzi.embedded;

import org.jspecify.annotations.NullMarked;
