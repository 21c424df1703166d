package dev.kagzi.spring.embedded;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties {@code kagzi.dev.*}: a PostgreSQL for the server while developing.
 *
 * @param enabled Whether the application starts a PostgreSQL for its embedded server
 * @param dataDir Folder of its data; by default one per application name, in the user's data
 *     directory
 */
@ConfigurationProperties("kagzi.dev")
public record KagziDevProperties(@DefaultValue("false") boolean enabled, @Nullable Path dataDir) {}
