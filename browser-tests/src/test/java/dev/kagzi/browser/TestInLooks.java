package dev.kagzi.browser;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A test with a {@link Look}: once wide and once on a phone. {@link BrowserTest#check} shows each
 * page in the other colours too, so the test need not be repeated for them.
 */
@ParameterizedTest
@EnumSource(
    value = Look.class,
    names = {"LIGHT_WIDE", "DARK_PHONE"})
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@interface TestInLooks {}
