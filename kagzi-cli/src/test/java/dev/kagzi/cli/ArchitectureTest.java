package dev.kagzi.cli;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

@AnalyzeClasses(packages = "dev.kagzi.cli", importOptions = DoNotIncludeTests.class)
class ArchitectureTest {
  @ArchTest
  static final ArchRule commands_use_only_the_public_api_of_the_sdk =
      noClasses().should().dependOnClassesThat().resideInAPackage("dev.kagzi.sdk.internal..");

  @ArchTest
  static final ArchRule commands_reach_the_engine_only_through_the_server =
      noClasses().should().dependOnClassesThat().resideInAPackage("dev.kagzi.engine..");
}
