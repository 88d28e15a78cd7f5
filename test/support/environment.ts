// Loaded before every test file (bunfig.toml): no test reads the settings that this machine may have in /etc.

process.env["RESELLER_ENV_FILE"] = "none";
