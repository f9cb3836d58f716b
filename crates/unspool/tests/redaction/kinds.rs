//! The kinds of secrets in the generated corpus: patterns of values, and the
//! lines that hold them.

/// The notation of a generated secret.
pub(crate) enum Form {
    /// A value with a name, in the notation of the context.
    Value,
    /// A command or statement; `{}` is the secret.
    Line(&'static str),
    /// A line of a file of its own; `{}` is the secret.
    File(&'static str),
}

pub(crate) struct Kind {
    pub(crate) id: &'static str,
    /// The name of an environment variable that would hold it.
    pub(crate) name: &'static str,
    /// See [`super::secrets::made`].
    pub(crate) value: &'static str,
    pub(crate) form: Form,
}

const fn value(id: &'static str, name: &'static str, value: &'static str) -> Kind {
    Kind {
        id,
        name,
        value,
        form: Form::Value,
    }
}

const fn line(id: &'static str, value: &'static str, line: &'static str) -> Kind {
    Kind {
        id,
        name: "",
        value,
        form: Form::Line(line),
    }
}

const fn file(id: &'static str, value: &'static str, line: &'static str) -> Kind {
    Kind {
        id,
        name: "",
        value,
        form: Form::File(line),
    }
}

pub(crate) const WORDS: &[&str] = &[
    "sunshine",
    "dragonfly",
    "football",
    "trustnoone",
    "butterfly",
    "letmeinplease",
    "starwars",
    "whatever",
    "monkeys",
    "shadowfax",
    "superman",
    "basketball",
    "chocolate",
    "blueberry",
];

const STRONG: &str = "{A-Z*2}{a-z*4}{0-9*2}!{a-z*3}{A-Z*2}";

#[rustfmt::skip]
pub(crate) const KINDS: &[Kind] = &[
    // Formats with a prefix.
    value("Anthropic key", "ANTHROPIC_API_KEY", "sk-ant-api03-{A-Za-z0-9_*93}AA"),
    value("OpenAI project key", "OPENAI_API_KEY", "sk-proj-{A-Za-z0-9_*74}T3BlbkFJ{A-Za-z0-9_*74}"),
    value("OpenAI key", "OPENAI_KEY", "sk-{A-Za-z0-9*20}T3BlbkFJ{A-Za-z0-9*20}"),
    value("OpenRouter key", "OPENROUTER_API_KEY", "sk-or-v1-{a-f0-9*64}"),
    value("GitHub token", "GITHUB_TOKEN", "ghp_{A-Za-z0-9*36}"),
    value("GitHub app token", "GH_TOKEN", "ghs_{A-Za-z0-9*36}"),
    value("GitHub fine-grained token", "GITHUB_PAT", "github_pat_{A-Za-z0-9*22}_{A-Za-z0-9*59}"),
    value("GitLab token", "GITLAB_TOKEN", "glpat-{A-Za-z0-9_*20}"),
    value("GitLab runner token", "RUNNER_TOKEN", "glrt-{A-Za-z0-9_*20}"),
    value("AWS access key", "AWS_ACCESS_KEY_ID", "AKIA{A-Z2-7*16}"),
    value("AWS secret key", "AWS_SECRET_ACCESS_KEY", "{A-Za-z0-9+/*40}"),
    value("AWS session token", "AWS_SESSION_TOKEN", "IQoJb3JpZ2luX2Vj{A-Za-z0-9+/*240}=="),
    value("Bedrock key", "AWS_BEARER_TOKEN_BEDROCK", "ABSK{A-Za-z0-9+/*110}"),
    value("Google key", "GOOGLE_API_KEY", "AIza{A-Za-z0-9_*35}"),
    value("Google client secret", "GOOGLE_CLIENT_SECRET", "GOCSPX-{A-Za-z0-9_*28}"),
    value("Google access token", "GOOGLE_OAUTH_ACCESS_TOKEN", "ya29.{A-Za-z0-9_*120}"),
    value("Slack bot token", "SLACK_BOT_TOKEN", "xoxb-{0-9*12}-{0-9*12}-{A-Za-z0-9*24}"),
    value("Slack app token", "SLACK_APP_TOKEN", "xapp-1-{A-Z0-9*11}-{0-9*13}-{a-f0-9*64}"),
    value("Stripe key", "STRIPE_SECRET_KEY", "sk_live_{A-Za-z0-9*24}"),
    value("Stripe webhook secret", "STRIPE_WEBHOOK_SECRET", "whsec_{A-Za-z0-9*32}"),
    value("npm token", "NPM_TOKEN", "npm_{A-Za-z0-9*36}"),
    value("PyPI token", "PYPI_TOKEN", "pypi-AgEIcHlwaS5vcmc{A-Za-z0-9_*80}"),
    value("RubyGems key", "GEM_HOST_API_KEY", "rubygems_{a-f0-9*48}"),
    value("crates.io token", "CARGO_REGISTRY_TOKEN", "cio{A-Za-z0-9*32}"),
    value("Hugging Face token", "HF_TOKEN", "hf_{A-Za-z*34}"),
    value("DigitalOcean token", "DIGITALOCEAN_TOKEN", "dop_v1_{a-f0-9*64}"),
    value("Shopify token", "SHOPIFY_TOKEN", "shpat_{a-f0-9*32}"),
    value("Databricks token", "DATABRICKS_TOKEN", "dapi{a-f0-9*32}"),
    value("Linear key", "LINEAR_API_KEY", "lin_api_{A-Za-z0-9*40}"),
    value("Notion token", "NOTION_TOKEN", "ntn_{0-9*11}{A-Za-z0-9*35}"),
    value("Sentry token", "SENTRY_AUTH_TOKEN", "sntryu_{a-f0-9*64}"),
    value("Grafana token", "GRAFANA_TOKEN", "glsa_{A-Za-z0-9*32}_{a-f0-9*8}"),
    value("Replicate token", "REPLICATE_API_TOKEN", "r8_{A-Za-z0-9*37}"),
    value("Groq key", "GROQ_API_KEY", "gsk_{A-Za-z0-9*52}"),
    value("xAI key", "XAI_API_KEY", "xai-{A-Za-z0-9*80}"),
    value("Perplexity key", "PERPLEXITY_API_KEY", "pplx-{A-Za-z0-9*48}"),
    value("Vault token", "VAULT_TOKEN", "hvs.{A-Za-z0-9_*90}"),
    value("Docker token", "DOCKER_TOKEN", "dckr_pat_{A-Za-z0-9_*27}"),
    value("PlanetScale password", "PLANETSCALE_TOKEN", "pscale_tkn_{A-Za-z0-9_*43}"),
    value("Supabase key", "SUPABASE_ACCESS_TOKEN", "sbp_{a-f0-9*40}"),
    value("Postman key", "POSTMAN_API_KEY", "PMAK-{a-f0-9*24}-{a-f0-9*34}"),
    value("Fly token", "FLY_API_TOKEN", "fo1_{A-Za-z0-9_*43}"),
    value("age key", "SOPS_AGE_KEY", "AGE-SECRET-KEY-1{QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L*58}"),
    value("Atlassian token", "JIRA_API_TOKEN", "ATATT3xFfGF0{A-Za-z0-9_*170}={A-F0-9*8}"),
    value("Azure client secret", "AZURE_CLIENT_SECRET", "{A-Za-z0-9*3}8Q~{A-Za-z0-9_~*34}"),
    value("Azure storage key", "AZURE_STORAGE_ACCOUNT_KEY", "{A-Za-z0-9+/*86}=="),
    value("Terraform token", "TF_TOKEN", "{A-Za-z0-9*14}.atlasv1.{A-Za-z0-9_*67}"),
    value("New Relic key", "NEW_RELIC_API_KEY", "NRAK-{A-Z0-9*27}"),
    value("Airtable token", "AIRTABLE_TOKEN", "pat{A-Za-z0-9*14}.{a-f0-9*64}"),
    value("Figma token", "FIGMA_TOKEN", "figd_{A-Za-z0-9_*40}"),
    value("SendGrid key", "SENDGRID_API_KEY", "SG.{A-Za-z0-9_*22}.{A-Za-z0-9_*43}"),
    value("Mailgun key", "MAILGUN_API_KEY", "key-{a-f0-9*32}"),
    value("Mailchimp key", "MAILCHIMP_API_KEY", "{a-f0-9*32}-us14"),
    value("Brevo key", "BREVO_API_KEY", "xkeysib-{a-f0-9*64}-{A-Za-z0-9*16}"),
    value("Twilio token", "TWILIO_AUTH_TOKEN", "{a-f0-9*32}"),
    value("Telegram token", "TELEGRAM_BOT_TOKEN", "{1-9*1}{0-9*9}:AA{A-Za-z0-9_*33}"),
    value("Discord token", "DISCORD_TOKEN", "MT{A-Za-z0-9*24}.G{A-Za-z0-9*5}.{A-Za-z0-9_*38}"),
    value("JSON web token", "SESSION_JWT", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiI{A-Za-z0-9*40}.{A-Za-z0-9_*43}"),
    value("1Password token", "OP_SERVICE_ACCOUNT_TOKEN", "ops_eyJ{A-Za-z0-9*260}"),
    value("Alibaba key", "ALIBABA_CLOUD_ACCESS_KEY_ID", "LTAI5t{A-Za-z0-9*18}"),
    value("Artifactory key", "ARTIFACTORY_API_KEY", "AKCp{A-Za-z0-9*69}"),
    value("Cloudflare origin key", "CLOUDFLARE_ORIGIN_KEY", "v1.0-{a-f0-9*24}-{a-f0-9*146}"),
    value("Cloudflare token", "CLOUDFLARE_API_TOKEN", "{A-Za-z0-9_*40}"),
    value("Dynatrace token", "DYNATRACE_TOKEN", "dt0c01.{A-Z0-9*24}.{A-Z0-9*64}"),
    value("Pulumi token", "PULUMI_ACCESS_TOKEN", "pul-{a-f0-9*40}"),
    value("Octopus key", "OCTOPUS_API_KEY", "API-{A-Z0-9*26}"),
    value("OpenShift token", "OPENSHIFT_TOKEN", "sha256~{A-Za-z0-9_*43}"),
    value("Prefect key", "PREFECT_API_KEY", "pnu_{A-Za-z0-9*36}"),
    value("Tailscale key", "TS_AUTHKEY", "tskey-auth-{A-Za-z0-9*12}CNTRL-{A-Za-z0-9*32}"),
    value("Netlify token", "NETLIFY_AUTH_TOKEN", "nfp_{A-Za-z0-9*36}"),
    value("LangSmith key", "LANGSMITH_API_KEY", "lsv2_pt_{a-f0-9*32}_{a-f0-9*10}"),
    value("Pinecone key", "PINECONE_API_KEY", "pcsk_{A-Za-z0-9*6}_{A-Za-z0-9*62}"),
    value("Buildkite token", "BUILDKITE_TOKEN", "bkua_{a-f0-9*40}"),
    value("Sourcegraph token", "SRC_ACCESS_TOKEN", "sgp_{a-f0-9*16}_{a-f0-9*40}"),
    value("Razorpay key", "RAZORPAY_KEY", "rzp_live_{A-Za-z0-9*14}"),
    value("Contentful token", "CONTENTFUL_TOKEN", "CFPAT-{A-Za-z0-9_*43}"),
    value("LaunchDarkly key", "LAUNCHDARKLY_SDK_KEY", "sdk-{a-f0-9*8}-{a-f0-9*4}-4{a-f0-9*3}-a{a-f0-9*3}-{a-f0-9*12}"),
    value("Heroku key", "HEROKU_API_KEY", "{a-f0-9*8}-{a-f0-9*4}-4{a-f0-9*3}-a{a-f0-9*3}-{a-f0-9*12}"),
    // Named values without a format.
    value("Datadog key", "DD_API_KEY", "{a-f0-9*32}"),
    value("Algolia key", "ALGOLIA_ADMIN_API_KEY", "{a-f0-9*32}"),
    value("encryption key", "ENCRYPTION_KEY", "{a-f0-9*64}"),
    value("Rails master key", "RAILS_MASTER_KEY", "{a-f0-9*32}"),
    value("Django secret", "DJANGO_SECRET_KEY", "django-insecure-{a-z0-9*30}#{a-z0-9*10}"),
    value("signing secret", "JWT_SECRET", "{A-Za-z0-9_*44}"),
    value("client secret", "CLIENT_SECRET", "{A-Za-z0-9*24}"),
    value("short token", "API_TOKEN", "{a-z*4}{0-9*4}{a-z*4}"),
    value("UUID token", "REFRESH_TOKEN", "{a-f0-9*8}-{a-f0-9*4}-4{a-f0-9*3}-a{a-f0-9*3}-{a-f0-9*12}"),
    value("strong password", "DB_PASSWORD", STRONG),
    value("password with symbols", "ADMIN_PASSWORD", "{a-z*3}@{A-Z*3}%{0-9*3}&{a-z*3}"),
    value("password of letters and digits", "SMTP_PASSWORD", "{word}{0-9*2}"),
    value("password of letters", "POSTGRES_PASSWORD", "{word}"),
    value("passphrase", "KEY_PASSPHRASE", "{word} {word} {word} {word}"),
    value("private key", "TLS_PRIVATE_KEY", "-----BEGIN RSA PRIVATE KEY-----\n{A-Za-z0-9+/*64}\n{A-Za-z0-9+/*64}\n{A-Za-z0-9+/*40}\n-----END RSA PRIVATE KEY-----"),
    value("OpenSSH key", "SSH_PRIVATE_KEY", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA{A-Za-z0-9+/*50}\n{A-Za-z0-9+/*70}\n-----END OPENSSH PRIVATE KEY-----"),
    // Commands and statements.
    line("password of curl", STRONG, "curl -fsS -u deploy:{} https://registry.example.com/v2/"),
    line("bearer header", "{a-f0-9*40}", "curl -H \"Authorization: Bearer {}\" https://api.example.com/v1/me"),
    line("basic header", "YWRtaW46{A-Za-z0-9*14}==", "curl -H 'Authorization: Basic {}' https://api.example.com/v1/me"),
    line("header of a key", "{A-Za-z0-9*32}", "curl -H 'X-API-Key: {}' https://api.example.com/v1/me"),
    line("session cookie", "{a-z0-9*32}", "curl -b 'sessionid={}' https://app.example.com/admin"),
    line("password of mysql", "{word}{0-9*3}", "mysql -h db -u root -p{} app"),
    line("password of sshpass", STRONG, "sshpass -p '{}' ssh deploy@host uptime"),
    line("password of docker login", "{a-z0-9*20}", "docker login -u deploy -p {} registry.example.com"),
    line("password of redis-cli", STRONG, "redis-cli -h cache -a {} ping"),
    line("password option", "{word}{0-9*2}", "createuser --username=bob --password={} --superuser"),
    line("token option", "{A-Za-z0-9*28}", "deploy --token {} --env production"),
    line("password for sudo", "{word}{0-9*2}", "echo {} | sudo -S systemctl restart app"),
    line("password for chpasswd", STRONG, "echo 'root:{}' | chpasswd"),
    line("literal for kubectl", "{word}{0-9*3}", "kubectl create secret generic db --from-literal=password={}"),
    line("secret of GitHub Actions", "{A-Za-z0-9*20}", "gh secret set DEPLOY_KEY --body \"{}\""),
    line("variable of fish", "{A-Za-z0-9*30}", "set -gx SERVICE_API_KEY {}"),
    line("password of openssl", "{word}{0-9*3}", "openssl enc -d -aes-256-cbc -pass pass:{} -in x.enc"),
    line("setting of npm", "{a-f0-9*36}", "npm config set //registry.example.com/:_authToken {}"),
    line("setting of aws", "{A-Za-z0-9+/*40}", "aws configure set aws_secret_access_key {}"),
    line("URL password", "{word}{0-9*2}", "git clone https://deploy:{}@git.example.com/app.git"),
    line("URL password with a slash", "{A-Za-z*5}/{0-9*2}{a-z*4}", "psql postgresql://app:{}@db.internal:5432/app"),
    line("password of Redis URL", "{A-Za-z0-9*16}", "redis-cli -u redis://:{}@cache.internal:6379/0"),
    line("JDBC parameter", "{word}{0-9*2}", "java -Durl=\"jdbc:postgresql://db:5432/app?user=app&password={}\" -jar app.jar"),
    line("JDBC property", "{word}{0-9*2}", "java -Durl=\"jdbc:sqlserver://db:1433;databaseName=app;user=sa;password={};encrypt=true\" -jar app.jar"),
    line("connection string", STRONG, "dotnet run --connection \"Server=db;Database=app;User Id=sa;Password={};Encrypt=true\""),
    line("SQL password", "{word}{0-9*2}", "psql -c \"ALTER USER app WITH PASSWORD '{}'\""),
    line("SQL identified by", "{word}", "mysql -e \"CREATE USER 'app'@'%' IDENTIFIED BY '{}'\""),
    line("Oracle login", "{word}{0-9*2}", "sqlplus scott/{}@orcl"),
    line("one-time password", "{A-Z2-7*32}", "qrencode \"otpauth://totp/Acme:bob?secret={}&issuer=Acme\""),
    line("presigned URL", "{a-f0-9*64}", "curl \"https://bucket.s3.amazonaws.com/key?X-Amz-Expires=900&X-Amz-Signature={}\""),
    line("shared access signature", "{A-Za-z0-9*40}%3D", "azcopy copy x \"https://acct.blob.core.windows.net/c?sv=2024-11-04&sig={}\""),
    line("Slack webhook", "{A-Za-z0-9*24}", "curl -d @x https://hooks.slack.com/services/T0123ABCD/B0123ABCD/{}"),
    line("Discord webhook", "{A-Za-z0-9_*68}", "curl -d @x https://discord.com/api/webhooks/112233445566778899/{}"),
    // Files.
    file(".pgpass", STRONG, "db.internal:5432:app:deploy:{}"),
    file(".netrc", "{word}{0-9*3}", "machine git.example.com login deploy password {}"),
    file(".npmrc", "{A-Za-z0-9*40}", "//registry.example.com/:_authToken={}"),
    file("Docker auth", "ZGVwbG95{A-Za-z0-9*24}", "{\"auths\": {\"ghcr.io\": {\"auth\": \"{}\"}}}"),
    file("password hash", "$2b$12${A-Za-z0-9./*53}", "deploy:{}"),
    file("XML password", STRONG, "<server><id>nexus</id><password>{}</password></server>"),
    file("app setting", "{A-Za-z0-9*24}", "<add key=\"ApiKey\" value=\"{}\" />"),
    file("Kubernetes secret", "{A-Za-z0-9*23}=", "kind: Secret\ndata:\n  password: {}"),
    file("environment of a container", "{word}{0-9*2}", "env:\n  - name: DB_PASSWORD\n    value: {}"),
    file("Wi-Fi password", "{word}{0-9*2}", "ssid=\"office\"\npsk=\"{}\""),
    file("Ansible password", STRONG, "host1 ansible_user=root ansible_become_pass={}"),
    file("column of a table", "{word}{0-9*2}", "| user | password |\n|---|---|\n| admin | {} |"),
];
